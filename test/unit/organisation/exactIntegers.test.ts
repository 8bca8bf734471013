import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { describe, expect, it } from 'vitest';
import { inexactIntegers } from '../../../shared/organisation/exactIntegers.ts';

const UNSAFE = Number.MAX_SAFE_INTEGER + 1;

describe('integers of 64 bits in JSON', () => {
  it.each<[string, unknown, string[]]>([
    ['as numbers up to 2^53 - 1', { passwordComplexityPolicy: { minLength: Number.MAX_SAFE_INTEGER } }, []],
    ['as strings', { passwordComplexityPolicy: { minLength: '9007199254740993' } }, []],
    ['as larger numbers', { passwordComplexityPolicy: { minLength: UNSAFE } }, ['passwordComplexityPolicy.minLength']],
    ['in snake_case', { password_complexity_policy: { min_length: UNSAFE } }, ['passwordComplexityPolicy.minLength']],
    ['inside lists', { domains: [{}, { details: { sequence: UNSAFE } }] }, ['domains[1].details.sequence']],
    ['below -2^53', { domains: [{ details: { sequence: -UNSAFE } }] }, ['domains[0].details.sequence']],
    ['of 32 bits, which have a range of their own', { lockoutPolicy: { maxPasswordAttempts: UNSAFE } }, []],
    ['in unknown fields', { unknown: UNSAFE, domains: [{ unknown: { sequence: UNSAFE } }] }, []],
    ['of something else than an object', [UNSAFE], []],
  ])('are found %s', (_what, value, paths) => {
    expect(inexactIntegers(DataOrgSchema, value)).toEqual(paths);
  });
});
