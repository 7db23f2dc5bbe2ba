"""The stateful interface (`behavior`) and what it is built on: reading an environment's numbers (`interface`,
`arrays`, `autoreset`), compiled steps for n environments (`batched`), what parts need (`asked_for`), the last
decisions (`history`), threads (`one_at_a_time`), and files without pickle (`storage`).
"""
