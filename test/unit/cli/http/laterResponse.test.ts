import { describe, expect, it } from 'vitest';
import { secondsUntilRepeat } from '../../../../cli/http/laterResponse.ts';

describe('a response', () => {
  it.each([
    [429, '5', 5, 5],
    [503, '5', 5, 5],
    [502, '5', 5, 5],
    [504, '5', 5, 5],
    [425, '5', 5, 5],
    [408, '5', 5, 5],
    [429, undefined, 0, undefined],
    [503, undefined, 0, undefined],
    [502, undefined, 0, undefined],
    [425, undefined, 0, undefined],
    [408, undefined, 0, undefined],
    [504, undefined, undefined, undefined],
    [200, '5', undefined, undefined],
    [301, '5', undefined, undefined],
    [403, '5', undefined, undefined],
    [409, '5', undefined, undefined],
    [413, '5', undefined, undefined],
    [500, '5', undefined, undefined],
    [501, '5', undefined, undefined],
  ] as const)('with status %d and Retry-After %s may be repeated after %s s', (status, header, seconds, ofServer) => {
    const response = { status, headers: { 'retry-after': header } };
    expect([secondsUntilRepeat(response), secondsUntilRepeat(response, true)]).toEqual([seconds, ofServer]);
  });
});
