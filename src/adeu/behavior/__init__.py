"""The stateful interface (`behavior`) and its modules: reading data of environments (`interface`, `arrays`,
`autoreset`), compiled steps for n environments (`batched`), inputs of parts (`asked_for`), recent decisions
(`history`), locking (`one_at_a_time`), and files without pickle (`storage`).
"""
