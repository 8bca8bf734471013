import { expect, it } from 'vitest';
import { isGoUrl } from '../../../shared/organisation/goUrl.ts';

// The verdicts are those of url.Parse in Go 1.26.
it.each([
  ...['', '/login', '//a/b', '///a:b', 'a b', 'a:b', '?%zz', '*', '#', 'http//x:y', 'https:a', 'https:///x'],
  ...['https://a/?b=%c', 'https://a/ b', 'https://\u00e4.example/', 'https://a_b/', 'https://a:/'],
  ...['https://a:99999/', 'https://u:p@h/', 'https://[::1]/', 'https://[::1]:8443/x', 'https://[fe80::1%25en0]/'],
  ...['https://a"b/', 'https://<a>/', 'https://a,b/', 'https://a%80/', 'mailto:x%zz'],
])('Go accepts %j as a URL', (text) => {
  expect(isGoUrl(text)).toBe(true);
});

it.each([
  ...['ht tp://%zz', ':x', '::bad', 'a b:c', '1a:b', '%zz', 'a\tb', '\x7f', '//a b/', 'https://a:b/'],
  ...['https://a b/', 'https://a/%zz', 'https://a/#%zz', 'https://a%20b/', 'https://%41/', 'https://u p@h/'],
  ...['https://u%z@h/', 'https://[::1', 'https://[a]/x', 'https://[::1]x/', 'https://a:8:9/', 'https://a`b/'],
  'https://a\\b/',
])('Go rejects %j as a URL', (text) => {
  expect(isGoUrl(text)).toBe(false);
});
