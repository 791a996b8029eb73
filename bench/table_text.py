"""Tables and numbers in the format of the documentation."""


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def number(value: float) -> str:
    """Two or three digits."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else number(value)


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def times(result: dict, *keys: str) -> str:
    return " / ".join(number(result[f"us_{key}"]) for key in keys)
