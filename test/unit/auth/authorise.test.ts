import { describe, expect, it } from 'vitest';
import { parseRoles } from '../../../shared/auth/authorise.ts';

describe('the roles of a stored membership', () => {
  it('are read from its body; none is no role', () => {
    expect(parseRoles(undefined)).toEqual([]);
    expect(parseRoles({ id: 'm' })).toEqual([]);
    expect(parseRoles({ id: 'm', body: '{"userId":"u"}' })).toEqual([]);
    expect(parseRoles({ id: 'm', body: '{"userId":"u","roles":["ORG_OWNER"]}' })).toEqual(['ORG_OWNER']);
  });
});
