import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatPath } from './path.ts';
import { isPlainTemplate, parseTemplate, parseUrlTemplate, type TemplatePart } from './template.ts';

describe('reading a template', () => {
  test('text and paths come in order', () => {
    expect(shown(parseTemplate('Hello {/workflow/user.name}, {/loop/index}!').parts)).toEqual([
      'Hello ',
      '</workflow/user.name>',
      ', ',
      '</loop/index>',
      '!',
    ]);
  });

  test('a brace that opens no path is text', () => {
    for (const text of ['{"a": {"b": 1}}', '{name}', 'a { b', '}{', '']) {
      expect(parseTemplate(text)).toEqual({ parts: text === '' ? [] : [{ is: 'text', text }], faults: [] });
    }
  });

  test('FormatText has fields besides', () => {
    const { parts, faults } = parseTemplate('Dear {name} of {address.city}, {/workflow/x} { } {"k": 1}', {
      fields: true,
    });
    expect(shown(parts)).toEqual(['Dear ', '[name]', ' of ', '[address.city]', ', ', '</workflow/x>', ' { } {"k": 1}']);
    expect(faults).toEqual([]);
  });

  test.each([
    ['{/workflow/a', 'template_syntax'],
    ['{/workflow/a {/workflow/b}', 'template_syntax'],
    ['{/a}', 'path_root'],
    ['{/workflow/__proto__}', 'forbidden_key'],
    ['{/workflow/a[-1]}', 'index_range'],
  ])('%s is refused: %s', (text, code) => {
    expect(parseTemplate(text).faults.map((fault) => fault.code)).toEqual([code]);
    expect(isPlainTemplate(text)).toBe(false);
  });

  test('whatever is quickly called plain has no fault, and no text makes it throw', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^[{}/a.[\]]{0,6}(\{\/workflow\/[a_[\]{}-]{0,6}\}?){0,3}$/));
    fc.assert(
      fc.property(texts, (text) => {
        const { faults } = parseTemplate(text);
        if (isPlainTemplate(text)) expect(faults).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('reading a URL', () => {
  test('the fixed part is known before it runs', () => {
    expect(parseUrlTemplate('https://API.example.com:8443/users/{/workflow/id}/posts?tag={/workflow/tag}')).toEqual({
      ok: true,
      url: {
        origin: 'https://api.example.com:8443',
        host: 'api.example.com',
        port: 8443,
        secure: true,
        fixedPath: '/users/',
        pathPattern: '/users/*/posts',
      },
    });
    expect(parseUrlTemplate('http://[::1]')).toMatchObject({ url: { host: '[::1]', port: 80, pathPattern: '/' } });
    expect(parseUrlTemplate('https://api.example.com:443/')).toMatchObject({
      url: { origin: 'https://api.example.com' },
    });
  });

  test.each([
    'https://{/workflow/h}/',
    'https://{/workflow/h}',
    'https://a.{/workflow/h}/',
    'https://a.example:{/workflow/p}/',
    'https://{/workflow/u}@a.example/',
    'https://a.example{/workflow/h}',
    '{/workflow/url}',
    ' {/workflow/scheme}://a.example/',
  ])('%s lets data decide the host and is refused', (text) => {
    expect(parseUrlTemplate(text)).toMatchObject({ ok: false, fault: { code: 'templated_host' } });
  });

  test.each([
    ['https://a.example/?{/workflow/q}', 'template_place'],
    ['https://a.example/?a=1&{/workflow/q}=2', 'template_place'],
    ['https://a.example/x#{/workflow/q}', 'template_place'],
    ['https://u@a.example/', 'url_userinfo'],
    ['https://u:p@a.example/', 'url_userinfo'],
    ['https://a.example\\@b.example/', 'url'],
    ['https://a.example/a b', 'url'],
    ['https://a.example/\n', 'url'],
    ['https://', 'url'],
    ['https:///x', 'url'],
    ['javascript:alert(1)', 'url'],
    ['file:///etc/passwd', 'url'],
    ['//a.example/', 'url'],
    ['/users', 'url'],
    ['', 'url'],
  ])('%s is refused: %s', (text, code) => {
    expect(parseUrlTemplate(text)).toMatchObject({ ok: false, fault: { code } });
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `https://${text}`),
        ),
        (text) => {
          expect(typeof parseUrlTemplate(text).ok).toBe('boolean');
        },
      ),
      { numRuns: 1000 },
    );
  });
});

function shown(parts: readonly TemplatePart[]): string[] {
  return parts.map((part) => {
    if (part.is === 'path') return `<${formatPath(part.path)}>`;
    return part.is === 'field' ? `[${part.name}]` : part.text;
  });
}

test('a row of open braces in a URL is gone through once', () => {
  expect(parseUrlTemplate(`https://api.example/${'{'.repeat(500_000)}`)).toMatchObject({ ok: true });
  expect(parseUrlTemplate(`https://api.example/${'{/'.repeat(250_000)}`)).toMatchObject({ ok: true });
});
