"""The stateful face (`behavior`) and what it stands on: reading an environment's numbers (`interface`, `arrays`,
`autoreset`), compiled steps for n environments (`batched`), the last decisions (`history`), and files without pickle
(`storage`).
"""
