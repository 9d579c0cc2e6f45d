"""Expressions: what is taken and what it means, what is refused and why, what is pinned."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from weft.gate.expression import ExpressionError, check, pin
from weft.schema.schema import Schema

ORDERS = Schema.of(
    {
        "id": "long",
        "email": "string",
        "country": "string",
        "total": "decimal(10,2)",
        "at": "timestamp",
        "day": "date",
        "n": "int",
        "score": "double",
        "ok": "boolean",
        "raw": "binary",
        "tags": "array<string>",
        "sizes": "array<int>",
        "attributes": "map<string,int>",
        "address": "struct<city:string,geo:struct<lat:double,lon:double>>",
        "items": "array<struct<sku:string,qty:int>>",
        "odd `name`.x": "string",
    }
)

# Each expression with its type, and whether it can never raise in ANSI mode.
GOOD = [
    ("total > 0", "boolean", True),
    ("total > 0 and country in ('DE', 'AT')", "boolean", True),
    ("email is not null or not ok", "boolean", True),
    ("at >= '2026-01-01'", "boolean", True),
    ("day between '2026-01-01' and '2026-12-31'", "boolean", True),
    ("n = 1.5", "boolean", True),
    ("id <=> null", "boolean", True),
    ("id is distinct from 3", "boolean", True),
    ("email like '%@example.com'", "boolean", True),
    ("email ilike 'A%'", "boolean", True),
    ("email not like 'a%' and email not ilike 'b%' and email not rlike 'c'", "boolean", False),
    ("email not like '10/%' escape '/'", "boolean", False),
    ("n not in (1, 2) and n not between 3 and 4", "boolean", True),
    ("email rlike '^[a-z]+@[a-z.]+$'", "boolean", False),
    ("lower(email)", "string", True),
    ("LOWER(Email)", "string", True),
    ("substring(email, 1, 3)", "string", True),
    ("email like '%a%b_'", "boolean", False),
    ("concat(email, '-', id)", "string", False),
    ("email || '-' || country", "string", False),
    ("regexp_replace(email, '[0-9]+', '#')", "string", False),
    ("split(email, '@')", "array<string>", False),
    ("lpad(country, 5, '0')", "string", False),
    ("repeat('ab', n)", "string", False),
    ("contains(email, '@')", "boolean", True),
    ("contains(email, country)", "boolean", False),
    ("trim(email, country)", "string", False),
    ("substring(raw, 1, 2)", "binary", False),
    ("substring(n, 1, 2)", "string", True),
    ("cast(raw as string)", "string", False),
    ("nullif(lower(email), 'x')", "string", False),
    ("n + 1 between 1 and 5", "boolean", False),
    ("sha2(email, 256)", "string", True),
    ("coalesce(email, country, 'none')", "string", True),
    ("nullif(n, 0)", "int", True),
    ("if(ok, 1, 2)", "int", True),
    ("case when n > 1 then 'a' when n > 2 then 'b' else 'c' end", "string", True),
    ("case country when 'DE' then 1 end", "int", True),
    ("total * 2", "decimal(12,2)", True),
    ("total + n", "decimal(13,2)", True),
    ("total / 3", "decimal(14,6)", False),
    ("id + 1", "bigint", False),
    ("n % 2 = 0", "boolean", False),
    ("n div 2", "bigint", False),
    ("n / 2", "double", True),
    ("score * n", "double", True),
    ("-score", "double", True),
    ("- 5 + n", "int", False),
    ("round(total, 1)", "decimal(10,1)", True),
    ("sqrt(score) + ln(n)", "double", True),
    ("n & 1", "int", True),
    ("greatest(n, id)", "bigint", True),
    ("try_add(id, 1)", "bigint", True),
    ("try_cast(email as int)", "int", True),
    ("cast(email as int)", "int", False),
    ("cast(n as bigint)", "bigint", True),
    ("n::string", "string", True),
    ("int(score)", "int", False),
    ("date_add(day, 7)", "date", False),
    ("year(at)", "int", True),
    ("extract(hour from at)", "int", True),
    ("date_trunc('hour', at)", "timestamp", False),
    ("at > day", "boolean", False),
    ("cast(at as date)", "date", True),
    ("cast(day as timestamp)", "timestamp", False),
    ("at + interval 5 minutes", "timestamp", False),
    ("at + interval '1 hour 30 minutes'", "timestamp", False),
    ("at - interval '-1 hour 1.5 seconds'", "timestamp", False),
    ("at + interval '2 years 1 month'", "timestamp", False),
    ("day + interval '1 week 2 days'", "date", False),
    ("at at time zone 'Europe/Berlin'", "timestamp_ntz", False),
    ("hour(at at time zone country)", "int", False),
    ("at at time zone 'UTC' at time zone 'Asia/Tokyo'", "timestamp", False),
    ("cast(email as varchar(20))", "string", True),
    ("email::char(3)", "string", True),
    ("cast(tags as array<varchar(3)>)", "array<string>", True),
    ("timestampadd(hour, 3, at)", "timestamp", False),
    ("at - at < interval '1' day", "boolean", False),
    ("day + interval 3 days", "date", False),
    ("day + interval 3 hours", "timestamp", False),
    ("(n | 1) & 2", "int", True),
    ("coalesce(tags, array())", "array<string>", False),
    ("date '2026-01-01' < day", "boolean", True),
    ("unix_millis(at)", "bigint", True),
    ("address.city", "string", True),
    ("address.geo.lat", "double", True),
    ("items.sku", "array<string>", True),
    ("items[0].qty", "int", False),
    ("attributes['size']", "int", True),
    ("attributes.size", "int", True),
    ("element_at(tags, 1)", "string", False),
    ("get(tags, 0)", "string", True),
    ("size(tags) > 2", "boolean", True),
    ("array_contains(tags, 'new')", "boolean", True),
    ("transform(sizes, x -> x + 1)", "array<int>", False),
    ("filter(items, i -> i.qty > 1)", "array<struct<sku:string,qty:int>>", False),
    ("exists(tags, t -> t = email)", "boolean", False),
    ("aggregate(sizes, 0L, (sum, x) -> sum + x)", "bigint", False),
    ("aggregate(tags, '', (a, t) -> a || t, a -> length(a))", "int", False),
    ("map_filter(attributes, (k, v) -> v > 0)", "map<string,int>", False),
    ("to_json(struct(id, lower(email) as email))", "string", False),
    ("struct(id, n + 1 as next)", "struct<id:bigint,next:int>", False),
    ("from_json(email, 'a int, b array<string>')", "struct<a:int,b:array<string>>", False),
    ("array(1, 2.5)", "array<decimal(11,1)>", False),
    ("sequence(1, n)", "array<int>", False),
    ("email rlike '(a+)+$'", "boolean", False),
    ("split(email, '(a|a)*b')", "array<string>", False),
    ("email like '%a%b%c%d%e%f%g%h%i%j%k%l%'", "boolean", False),
    ("transform(sequence(1, 5000), x -> sequence(1, 5000))", "array<array<int>>", False),
    ("aggregate(sizes, 'x', (a, x) -> concat(a, a))", "string", False),
    ("`odd ``name``.x` = 'a''b'", "boolean", True),
    ("_weft.id", "string", True),
    ("_weft.event_time < at", "boolean", True),
    ("rand() < 0.1", "boolean", True),
    ("now() > at", "boolean", True),
    ("email = 'drop table x; --'", "boolean", True),
    ("n = 1 -- a comment", "boolean", True),
    (" or ".join(f"n = {number}" for number in range(200)), "boolean", True),
]


@pytest.mark.parametrize(("text", "kind", "total"), GOOD, ids=[case[0][:40] for case in GOOD])
def test_a_good_expression_is_taken_with_its_type(text: str, kind: str, total: bool) -> None:
    checked = check(text, ORDERS)
    assert str(checked.type) == kind
    assert checked.total is total


@pytest.mark.parametrize("text", [case[0] for case in GOOD], ids=[case[0][:40] for case in GOOD])
def test_checked_sql_is_taken_again_and_stays_as_it_is(text: str) -> None:
    checked = check(text, ORDERS)
    again = check(checked.sql, ORDERS)
    assert (again.sql, again.type, again.columns) == (checked.sql, checked.type, checked.columns)


NESTED = "(" * 40 + "n" + ")" * 40
BAD = [
    ("", "expression.empty"),
    ("   \n", "expression.empty"),
    ("-- only a comment", "expression.empty"),
    ("total >", "expression.syntax"),
    ("upper(email", "expression.syntax"),
    ("'never closed", "expression.syntax"),
    ("`never closed", "expression.syntax"),
    ("a b c d", "expression.syntax"),
    ("n as total", "expression.syntax"),
    ("n n", "expression.syntax"),
    ("n = 1; drop table orders", "expression.several"),
    ("n;", "expression.several"),
    ("select 1", "expression.statement"),
    ("select * from orders", "expression.statement"),
    ("drop table orders", "expression.statement"),
    ("create table t as select 1", "expression.statement"),
    ("insert into t values (1)", "expression.statement"),
    ("set spark.sql.ansi.enabled = false", "expression.statement"),
    ("with x as (select 1) select 1", "expression.statement"),
    ("(select max(id) from orders)", "expression.subquery"),
    ("1e", "expression.type"),
    ("X'1'", "expression.type"),
    ("id = (select max(id) from orders)", "expression.subquery"),
    ("id in (select id from orders)", "expression.subquery"),
    ("exists (select 1)", "expression.subquery"),
    ("coalesce((select 1), 2)", "expression.subquery"),
    ("sum(total)", "expression.aggregate"),
    ("count(*)", "expression.aggregate"),
    ("max(id) > 3", "expression.aggregate"),
    ("row_number()", "expression.window"),
    ("sum(total) over (partition by country)", "expression.window"),
    ("lag(total) over (order by at)", "expression.window"),
    ("window(at, '1 minute')", "expression.window"),
    ("interval '1 hour 30' < at - at", "expression.type"),
    ("at - interval '5 days ago'", "expression.type"),
    ("at + interval '1 hour 30 minuts'", "expression.type"),
    ("at + interval '1.5 hours'", "expression.type"),
    ("at + interval '1 month 2 days'", "expression.type"),
    ("at + interval '1:30' hour to minute", "expression.type"),
    ("at + interval ''", "expression.type"),
    ("day at time zone 'UTC'", "expression.type"),
    ("email at time zone 'UTC'", "expression.type"),
    ("at at time zone 5", "expression.type"),
    ("at" + " at time zone 'UTC'" * 40, "expression.too-deep"),
    ("at" + " at time zone 'UTC'" * 900, "expression.too-deep"),
    ("explode(tags)", "expression.generator"),
    ("posexplode(tags)", "expression.generator"),
    ("stack(2, 1, 2)", "expression.generator"),
    ("*", "expression.star"),
    ("to_json(struct(*))", "expression.star"),
    ("java_method('java.lang.System', 'exit', 1)", "expression.refused-function"),
    ("reflect('java.lang.Runtime', 'getRuntime')", "expression.refused-function"),
    ("try_reflect('java.util.UUID', 'randomUUID')", "expression.refused-function"),
    ("`reflect`('java.util.UUID', 'randomUUID')", "expression.refused-function"),
    ("rEfLeCt('a', 'b')", "expression.refused-function"),
    ("system.builtin.reflect('a', 'b')", "expression.refused-function"),
    ("read_files('/etc/passwd')", "expression.refused-function"),
    ("input_file_name()", "expression.refused-function"),
    ("xpath(email, '/a')", "expression.refused-function"),
    ("current_user()", "expression.refused-function"),
    ("current_user", "expression.refused-function"),
    ("session_user", "expression.refused-function"),
    ("version()", "expression.refused-function"),
    ("spark_partition_id()", "expression.refused-function"),
    ("monotonically_increasing_id()", "expression.refused-function"),
    ("uuid()", "expression.refused-function"),
    ("shuffle(tags)", "expression.refused-function"),
    ("aes_encrypt(email, 'key')", "expression.refused-function"),
    ("lowr(email)", "expression.unknown-function"),
    ("my_udf(email)", "expression.unknown-function"),
    ("e_mail = 'x'", "expression.unknown-column"),
    ("address.citty", "expression.unknown-column"),
    ("_weft.secret", "expression.unknown-column"),
    ("_weft", "expression.unknown-column"),
    ("transform(sizes, x -> y)", "expression.unknown-column"),
    ("email > 5", "expression.type"),
    ("total > '5'", "expression.type"),
    ("email = true", "expression.type"),
    ("at > 'yesterday'", "expression.type"),
    ("email + 1", "expression.type"),
    ("ok * 2", "expression.type"),
    ("abs(email)", "expression.type"),
    ("year(email)", "expression.type"),
    ("substring(email, id, 2)", "expression.type"),
    ("array_contains(sizes, 'x')", "expression.type"),
    ("coalesce(email, n)", "expression.type"),
    ("case when ok then 1 else 'x' end", "expression.type"),
    ("attributes = attributes", "expression.type"),
    ("email.city", "expression.type"),
    ("cast(tags as int)", "expression.type"),
    ("cast('abc' as int)", "expression.type"),
    ("cast(n as nonsense)", "expression.syntax"),
    ("date '2026-99-99'", "expression.type"),
    ("from_json(email, 'a nonsense')", "expression.type"),
    ("1e999", "expression.type"),
    ("9" * 50, "expression.type"),
    ("n and ok", "expression.not-boolean"),
    ("not email", "expression.not-boolean"),
    ("case when n then 1 end", "expression.not-boolean"),
    ("filter(sizes, x -> x)", "expression.not-boolean"),
    ("lower()", "expression.arguments"),
    ("lower(email, country)", "expression.arguments"),
    ("if(ok, 1)", "expression.arguments"),
    ("unix_timestamp()", "expression.arguments"),
    ("transform(sizes)", "expression.arguments"),
    ("transform(sizes, (a, b, c) -> a)", "expression.arguments"),
    ("map('a')", "expression.arguments"),
    ("timestampadd(fortnight, 1, at)", "expression.arguments"),
    ("email rlike '(?=a)b'", "expression.pattern"),
    ("email rlike r'(a)\\1'", "expression.pattern"),
    ("email rlike 'a++'", "expression.pattern"),
    ("email rlike '(a{1000}){1000}'", "expression.pattern"),
    ("regexp_replace(email, '(.*)*x', '')", "expression.pattern"),
    ("regexp_extract(email, '([')", "expression.pattern"),
    ("str_to_map(email, '(,')", "expression.pattern"),
    ("email like 'a/' escape '/'", "expression.pattern"),
    ("email like r'a\\b'", "expression.pattern"),
    ("parse_url(email, 'QUERY', '(a+)+')", "expression.literal-needed"),
    ("email rlike country", "expression.literal-needed"),
    ("regexp_replace(email, concat('(a', '+)+$'), '')", "expression.literal-needed"),
    ("email like country", "expression.literal-needed"),
    ("email like 'a' escape 'bc'", "expression.literal-needed"),
    ("date_format(at, country)", "expression.literal-needed"),
    ("repeat(email, 1000000000)", "expression.size"),
    ("space(2000000000)", "expression.size"),
    ("rpad(email, 999999999, 'x')", "expression.size"),
    ("round(score, 2000000000)", "expression.size"),
    ("date_format(at, '" + "y" * 2_000 + "')", "expression.size"),
    ("sequence(day, date_add(day, 100000))", "expression.type"),
    ("right(" * 20 + "email" + ", 3)" * 20, "expression.too-large"),
    (
        "case " * 10 + "n" + " when 1 then 1 when 2 then 2 when 3 then 3 end" * 10,
        "expression.too-large",
    ),
    ("named_struct('a', 1, 'b', 2)." + "nothing", "expression.unknown-column"),
    ("to_timestamp('now')", "expression.clock"),
    ("to_date(' Today UTC')", "expression.clock"),
    ("unix_timestamp('tomorrow')", "expression.clock"),
    ("try_cast('now' as timestamp)", "expression.clock"),
    ("cast('epoch' as date)", "expression.clock"),
    ("timestamp 'now'", "expression.clock"),
    ("date 'yesterday'", "expression.clock"),
    ("at > 'now'", "expression.type"),
    ("at > '20260101'", "expression.type"),
    ("cast('2026-W01-1' as timestamp)", "expression.type"),
    ("cast('1_0' as double)", "expression.type"),
    ("aggregate(sizes, 0, (a, x) -> a + 1.5)", "expression.type"),
    ("array_append(sizes, 'x')", "expression.type"),
    ("element_at(tags, 'x')", "expression.type"),
    ("hash(attributes)", "expression.type"),
    ("to_json(n)", "expression.type"),
    ("to_number(email, 'abc')", "expression.arguments"),
    ("extract(fortnight from at)", "expression.arguments"),
    ("lower(\x00email)", "expression.control-character"),
    ("email = '\x1b[2J'", "expression.control-character"),
    ("email = '\u2028'", "expression.control-character"),
    ("n = 1 or " * 20_000 + "ok", "expression.too-long"),
    ("n" + "+n" * 3_000, "expression.too-large"),
    ("n in (" + ",".join("1" * 1 for _ in range(3_000)) + ")", "expression.too-large"),
    (NESTED, "expression.too-deep"),
    ("not " * 60 + "ok", "expression.too-deep"),
    ("- " * 60 + "n", "expression.too-deep"),
    ("n | 1 & 2", "expression.syntax"),
    ("case when ok then " * 40 + "1" + " end" * 40, "expression.too-deep"),
    ("abs(" * 40 + "n" + ")" * 40, "expression.too-deep"),
    ("n" + "+n" * 400, "expression.too-deep"),
    ("?", "expression.unsupported"),
    (":name", "expression.unsupported"),
    ("${name}", "expression.unsupported"),
    ("email collate utf8_lcase", "expression.unsupported"),
    ("array(1, 2)[0]", "expression.unsupported"),
]


@pytest.mark.parametrize(("text", "code"), BAD, ids=[case[0][:40] for case in BAD])
def test_a_bad_expression_is_refused_with_code_and_hint(text: str, code: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        check(text, ORDERS)
    assert caught.value.code == code
    assert caught.value.domain == "user"
    assert caught.value.hint


def test_a_filter_needs_a_condition() -> None:
    with pytest.raises(ExpressionError) as caught:
        check("email", ORDERS, boolean=True)
    assert caught.value.code == "expression.not-boolean"


def test_an_unknown_column_names_those_there_are_and_the_nearest() -> None:
    with pytest.raises(ExpressionError) as caught:
        check("e_mail = 'x'", ORDERS)
    assert caught.value.ids["column"] == "e_mail"
    assert "email" in caught.value.ids["columns"]
    assert "'email'" in (caught.value.hint or "")


def test_the_columns_that_an_expression_reads_are_known() -> None:
    checked = check("if(ok, lower(EMAIL), transform(tags, email -> email)[0]) = _weft.id", ORDERS)
    assert checked.columns == ("ok", "email", "tags", "_weft.id")
    assert checked.functions == ("if", "lower", "transform")


def test_identifiers_are_always_quoted_in_what_spark_gets() -> None:
    assert check("Email", ORDERS).sql == "`email`"
    assert check("`odd ``name``.x`", ORDERS).sql == "`odd ``name``.x`"


def test_texts_keep_their_quotes_and_backslashes() -> None:
    assert check(r"email = 'it\'s \\d'", ORDERS).sql == r"`email` = 'it\'s \\d'"
    assert check("email = 'a\nb'", ORDERS).sql == r"`email` = 'a\nb'"


NOW = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_the_moment_is_pinned_to_the_knot() -> None:
    checked = check("now() > at and current_date() = day", ORDERS)
    assert checked.pinned == ("now", "current_date")
    pinned = pin(checked.sql, now=NOW, seed=1)
    assert pinned == (
        "(timestamp_micros(1767323045000006) > `at`) and (date_from_unix_date(20455) = `day`)"
    )


def test_chance_is_pinned_to_record_seed_and_place() -> None:
    checked = check("rand() + rand() > randn()", ORDERS)
    pinned = pin(checked.sql, now=NOW, seed=1)
    assert "rand(" not in pinned
    assert pinned == pin(checked.sql, now=NOW, seed=1)
    assert pinned != pin(checked.sql, now=NOW, seed=2)
    first, second = pinned.split(" + ", 1)[0], pinned.split(" + ", 1)[1].split(" > ")[0]
    assert first.strip("(") != second.strip(")")


def test_a_text_that_looks_like_a_call_is_not_pinned() -> None:
    sql = check("email = 'now() rand()'", ORDERS).sql
    assert pin(sql, now=NOW, seed=1) == sql


def test_pinned_sql_passes_the_gate_itself() -> None:
    for text in ("rand(7) < 0.5", "randn() < 0.5", "localtimestamp() is null", "now() > at"):
        pinned = pin(check(text, ORDERS).sql, now=NOW, seed=9)
        assert check(pinned, ORDERS).pinned == ()
