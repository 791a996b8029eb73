"""The modules behind `stickslip`; programs import the names from there."""
