def clean(rows):
    """Rows without blanks around their cells, none empty, none twice, in the order in which they came."""
    trimmed = (tuple(cell.strip() for cell in row) for row in rows)
    return [list(row) for row in dict.fromkeys(trimmed) if any(row)]
