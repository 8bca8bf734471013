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
  ['a page with an empty title', '<title></title><h1>Blocked</h1>', 'Blocked'],
  [
    'a heading with other elements',
    '<html><h1><span class="a">Access</span> <b>denied</b></h1></html>',
    'Access denied',
  ],
  ['a page with character references', '<title>caf&eacute; &amp; b&#252;ro &lt;1&gt;</title>', 'café & büro <1>'],
  ['a page with a title in a comment', '<html><!-- <title>template</title> --><title>Denied</title>', 'Denied'],
  ['a page with a title in a script', '<script>"<title>x</title>"</script><h1>Denied</h1>', 'Denied'],
  ['a page that was cut', '<html><title>Bad Gate', 'Bad Gate'],
  ['XML', '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>No access</Message></Error>', 'No access'],
  ['a list of errors', '{"errors":[{"status":"403","detail":"not for you"}]}', 'not for you'],
  ['a list of texts', '{"errors":["not for you"]}', 'not for you'],
  ['a list of objects', '[{"error":{"code":403,"message":"not enabled"}}]', 'not enabled'],
  ['AWS', '{"Message":"User is not authorized"}', 'User is not authorized'],
  ['a Chinese gateway', '{"code":1,"msg":"blocked"}', 'blocked'],
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
