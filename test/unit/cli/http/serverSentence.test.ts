import { expect, it } from 'vitest';
import { sentenceIn } from '../../../../cli/http/serverSentence.ts';

it.each([
  ['the message of a service', '{"code":3,"message":"a  b"}', 'a b'],
  ["Google's gateways", '{"error":{"code":403,"message":"not enabled"}}', 'not enabled'],
  ['OAuth', '{"error":"access_denied","error_description":"login first"}', 'login first'],
  ['a gateway', '{"error":"login required"}', 'login required'],
  ['a problem document', '{"title":"Gone","detail":"the route has moved"}', 'the route has moved'],
  ['JSON without a sentence', '{"status":9}', '{"status":9}'],
  ['a page', '<!doctype html>\n<html><title lang="en">Access\ndenied</title><h1>x</h1></html>', 'Access denied'],
  ['a page without a title', '<html><body><h1>Blocked</h1></body></html>', 'Blocked'],
  ['a page without a heading', '<html><body>x</body></html>', ''],
  ['a text', ' slow\ndown \n', 'slow down'],
  ['nothing', '', ''],
])('the sentence of %s is found', (_of, text, sentence) => {
  expect(sentenceIn(text)).toBe(sentence);
});

it('a sentence is short', () => {
  for (const text of ['x'.repeat(10_000), JSON.stringify({ message: 'x'.repeat(10_000) })])
    expect(sentenceIn(text).length).toBeLessThan(400);
});
