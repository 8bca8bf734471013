import { assert, describe, expect, it } from 'vitest';
import { parseDuration, parseGoDuration } from '../../shared/duration.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { errorInfo } from '../support/http/errorInfo.ts';

describe('parseGoDuration', () => {
  it.each([
    ['300ms', 300],
    ['30s', 30_000],
    ['10m', 600_000],
    ['1h5m', 3_900_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['+5s', 5000],
    ['1h1h', 7_200_000],
    ['2us', 0.002],
    ['2\u00b5s', 0.002],
    ['2\u03bcs', 0.002],
    ['1ns', 1e-6],
    ['0s1ms', 1],
  ])('reads %s as %d ms', (text, milliseconds) => {
    expect(parseGoDuration(text)).toBeCloseTo(milliseconds, 9);
  });

  it.each([
    ...[
      ...['abc', '-1s', '30', '', '0', '0s', '1e3s', 's', '.s', '1 s', ' 1s', '1s ', '1d', '1S', '1h-5m', '1.2.3s'],
      '0.1ns',
    ],
    ...['9999999999h', `${'9'.repeat(90)}h`, `${'1s'.repeat(60)}`, '\u0661s', 'Infinitys', '1s\n'],
    // If a number can be read in two ways, this takes minutes.
    `${'11s'.repeat(33)}x`,
  ])('rejects %j', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});

describe('parseDuration', () => {
  it('accepts a duration up to the limit itself', () => {
    expect(parseDuration('60m', 3_600_000)).toBe(3_600_000);
  });

  it('names the field, the limit and an example in its error', () => {
    const error = refusal(() => parseDuration('61m', 3_600_000));
    expect(error.toJson()).toEqual({
      code: 3,
      message:
        'timeout: must be a positive duration of at most 1h, a number with its unit (ms, s, m, h), such as "30s" or "1h5m"',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [
            {
              field: 'timeout',
              description:
                'must be a positive duration of at most 1h, a number with its unit (ms, s, m, h), such as "30s" or "1h5m"',
            },
          ],
        },
        errorInfo('INVALID_REQUEST', { field: 'timeout', problem: error.message.replace('timeout: ', '') }),
      ],
    });
  });

  it('mentions no limit if there is none', () => {
    expect(refusal(() => parseDuration('30')).text).not.toContain('at most');
  });
});

function refusal(act: () => unknown): IdentityError {
  try {
    act();
  } catch (error) {
    assert(error instanceof IdentityError);
    return error;
  }
  assert.fail('nothing was thrown');
}
