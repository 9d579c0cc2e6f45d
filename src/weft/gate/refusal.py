"""The functions of Spark that an expression must not call, each with the reason that people are
told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Why a function is refused: a code, what it does, and what to do instead."""

    code: str
    why: str
    hint: str


_READS = Reason(
    "expression.refused-function",
    "it reads files or tables",
    "An expression sees one record only; join streams in a pipeline.",
)
_CODE = Reason(
    "expression.refused-function",
    "it calls code outside of the expression",
    "Write a Python function in the project and call it with a `function` step.",
)
_SESSION = Reason(
    "expression.refused-function",
    "it says something of the session or the machine and not of the record",
    "Use the fields of `_weft` (id, knot, at, source, partition) instead.",
)
_CHANCE = Reason(
    "expression.refused-function",
    "its result cannot be pinned, so a replay would differ",
    "Use rand(), which is pinned, or a hash such as sha2(_weft.id, 256).",
)
_AGGREGATE = Reason(
    "expression.aggregate",
    "it aggregates several records",
    "Aggregate in a pipeline with a `window`.",
)
_WINDOW = Reason(
    "expression.window",
    "it looks at other records",
    "Aggregate in a pipeline with a `window`.",
)
_GENERATOR = Reason(
    "expression.generator",
    "it makes several records of one",
    "A step makes one record of one: keep the array and use transform(), filter(), aggregate() or element_at() "
    "on it, or split the records in the source.",
)

_NAMES: Mapping[Reason, str] = {
    _READS: """read_files range table python_worker_logs input_file_name
        input_file_block_start input_file_block_length from_avro to_avro
        schema_of_avro from_protobuf to_protobuf read_kafka read_kinesis read_pubsub
        read_state_metadata cloud_files list_secrets secret load_file""",
    _CODE: """reflect java_method try_reflect ai_query http_request sql call_function xpath
        xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number
        xpath_short xpath_string from_xml to_xml schema_of_xml""",
    _SESSION: """current_user user session_user version current_catalog current_database
        current_schema current_path current_timezone current_time spark_partition_id
        monotonically_increasing_id sql_keywords collations is_account_group_member
        is_member current_metastore current_recipient""",
    _CHANCE: "uuid shuffle randstr uniform aes_encrypt gen_random_uuid",
    _AGGREGATE: """any any_value approx_count_distinct approx_percentile approx_top_k array_agg
        avg bit_and bit_or bit_xor bool_and bool_or collect_list collect_set corr
        count count_if count_min_sketch covar_pop covar_samp every first first_value
        grouping grouping_id histogram_numeric hll_sketch_agg hll_union_agg kurtosis
        last last_value listagg max max_by mean measure median min min_by mode
        percentile percentile_approx percentile_cont percentile_disc regr_avgx
        regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
        regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum
        try_avg try_sum var_pop var_samp variance""",
    _WINDOW: """cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
        window session_window window_time""",
    _GENERATOR: """explode explode_outer inline inline_outer posexplode posexplode_outer stack
        json_tuple variant_explode variant_explode_outer unnest""",
}

REFUSED: Mapping[str, Reason] = {
    name: reason for reason, names in _NAMES.items() for name in names.split()
}
