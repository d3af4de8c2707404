"""Studies that write a page of docs: `python -m studies.<name>`."""
