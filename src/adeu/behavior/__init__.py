"""The stateful face (`behavior`) and what it stands on: reading an environment's numbers (`interface`, `arrays`),
compiled steps for n environments (`compiled`), and files without pickle (`storage`).
"""
