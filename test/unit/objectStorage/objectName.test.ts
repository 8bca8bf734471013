import { describe, expect, it } from 'vitest';
import { checkObjectName } from '../../../shared/objectStorage/objectName.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';

const check = (bucket: string, path: string) => () => checkObjectName({ bucket, path }, 'gcs_output');

describe("a bucket's name", () => {
  it.each([
    'abc',
    'a-b_c.d',
    '0bucket9',
    'a'.repeat(63),
    `${'a'.repeat(63)}.${'b'.repeat(63)}.example.com`,
    'mygoog',
    '1.2.3.4.5',
  ])('may be %s', (bucket) => expect(check(bucket, 'x')).not.toThrow());

  it.each([
    ...[
      '',
      'ab',
      'a'.repeat(64),
      `${'a'.repeat(64)}.com`,
      `${'a.'.repeat(111)}com`,
      'Upper',
      'a b',
      'a/b',
      '../x',
      'a..b',
    ],
    ...['-ab', 'ab-', '.ab', 'ab_', '192.168.5.4', 'goog-x', 'my-google-files', 'g00gle', 'büro', 'a?b', 'ab\n'],
  ])('may not be %j', (bucket) => expect(check(bucket, 'x')).toThrow(/^gcs_output\.bucket: /));
});

describe("an object's name", () => {
  it.each(['x', 'a/b/c.json', '...', 'ä ö?#%&', '../x', 'é'.repeat(512), '.well-known/other'])('may be %s', (path) =>
    expect(check('bucket', path)).not.toThrow(),
  );

  it.each(['', '.', '..', 'a\nb', 'a\rb', 'é'.repeat(513), 'a'.repeat(1025), '.well-known/acme-challenge/x', '\ud800'])(
    'may not be %j',
    (path) => expect(check('bucket', path)).toThrow(/^gcs_output\.path: /),
  );
});

it('an error lists every invalid name at once', () => {
  expect(check('B', '')).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      details: [
        expect.objectContaining({
          fieldViolations: [
            { field: 'gcs_output.bucket', description: expect.any(String) },
            { field: 'gcs_output.path', description: expect.any(String) },
          ],
        }),
        errorInfo('INVALID_REQUEST', { field: 'gcs_output.bucket', problem: expect.any(String) }),
      ],
    }),
  );
});
