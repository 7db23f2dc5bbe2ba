"""The interfaces of parts (`contract`), the equation (`explorer`), and argument checks (`check`)."""
