"""The contract (`contract`), the equation (`explorer`), and how arguments are checked (`check`)."""
