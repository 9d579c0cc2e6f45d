"""What people may write as SQL: parsed, judged by a list of what is safe, typed, and only then given to Spark.

`grammar` parses, `judge` walks what was parsed and asks `call`, `operator`, `conversion` and `reference` of each part,
`catalog`, `special`, `collection`, `higher` know the functions and `refusal` those that are none; `expression` is the
way in. `spark` hands what was judged to the kernel, which has the last word.
"""
