"""__future__: the features that imports ask for are always on."""
annotations = True
division = True
print_function = True
absolute_import = True
unicode_literals = True
with_statement = True
generators = True
nested_scopes = True
generator_stop = True
