"""A project file to a checked project, with everything wrong in it found before it runs.

`document` (text with lines) → `cursor`, `read`, `kind`, `settings` (a draft) → `check` with `wiring`, `merge`, `pane`,
`outlet`, `code`, `revision` (what the parts mean together) → `expand`; `load` is the way in, `problem` what it says.
`deployed` checks a project that came over the wire.
"""
