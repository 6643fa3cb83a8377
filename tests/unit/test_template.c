/* Jinja templates: what reaches for internals is named, what only looks like it is not. */
#include "unit.h"

#include "formats/formats.h"

static void code(void **state)
{
    static const struct { const char *source, *token; } rows[] = {
        { "{{ ''.__class__.__mro__ }}", "__class__" },
        { "{{ x . __mro__ }}", "__mro__" },
        { "{%- set c = cycler.__init__.__globals__ -%}", "__globals__" },
        { "{{ cycler['__globals__'] }}", "__globals__" },
        { "{{ f(x)[ \"__builtins__\" ] }}", "__builtins__" },
        { "{{ ''['__class__'] }}", "__class__" },
        { "{{ x|attr('__class__') }}", "__class__" },
        { "{{ x | attr( \"__subclasses__\" ) }}", "__subclasses__" },
        { "{{ __import__('os') }}", "__import__" },
        { "{{ m.os.popen('id').read() }}", "popen" },
        { "{{ m.os . system ('id') }}", "os . system" },
        { "{% if eval('1') %}{% endif %}", "eval" },
        { "{% set x = exec(y) %}", "exec" },
        { "text {# note #} {{ a }} {{ {'a': {'b': 1}}.__class__ }}", "__class__" },
        { "{{ '}}' }}{{ x.__mro__ }}", "__mro__" },
        { "{% raw %}{{ x.__mro__ }}{% endraw %}{{ x.__class__ }}", "__class__" },
        { "{{ x.__class__", "__class__" },       /* not closed */
        { "{ {{ x.__class__ }}", "__class__" },
        { "{%+ if x.__class__ %}", "__class__" },
        { "{{ \"\\\"\" ~ x.__class__ }}", "__class__" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_str got = mc_template_code(S(rows[i].source));
        if (!mc_str_is(got, rows[i].token))
            fail_msg("%s: \"%.*s\"", rows[i].source, MC_FMT(got));
    }
}

static void no_code(void **state)
{
    static const char *const rows[] = {
        "", "{", "{{", "{%", "{#", "plain __class__ text, os.system('x')",
        "{% for m in messages %}{{ loop.index0 }}{{ m['content'] | trim }}{% endfor %}",
        "{% set ns = namespace(found=false) %}{{ raise_exception('no __class__ here') }}{{ strftime_now('%d %b') }}{{ tools | tojson(indent=4) }}",
        "{{ 'call eval(x) or os.system(y), then x.__globals__' }}",
        "{# x.__class__ #}{{ a }}",
        "{{ role in ['__class__', 'user'] }}",         /* a list of words */
        "{% if x == '__class__' %}{% endif %}",
        "{{ f('__class__') }}",
        "{{ x.evaluate() }}{{ x.executable }}{{ x.eval }}{{ system('x') }}{{ os.systems('x') }}",
        "{{ x.__class }}{{ x.__class__name }}{{ __name__ }}",
        "{% raw %}{{ x.__class__ }}{%- endraw -%}{{ y }}",
        "{% raw %}{{ x.__class__ }}",
        "{{ {'a': {'b': '}}'}} }} .__class__",
        "\"{{\" is text: }} .__class__",
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_str got = mc_template_code(S(rows[i]));
        if (got.n)
            fail_msg("%s: \"%.*s\"", rows[i], MC_FMT(got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(code), cmocka_unit_test(no_code) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
