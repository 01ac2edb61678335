"""pytorch_pfn_extras: its exporter."""
