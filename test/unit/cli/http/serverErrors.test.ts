import { describe, expect, it } from 'vitest';
import { rejection } from '../../../../cli/http/serverErrors.ts';
import { invalidRequest, organisationsExist, tokenInvalid } from '../../../../shared/errors/errors.ts';
import type { IdentityError } from '../../../../shared/errors/identityError.ts';

const reworded = (error: IdentityError) => ({ ...error.toJson(), message: 'reworded' });
const withReason = (reason: string, metadata?: object) => ({
  message: 'as the server words it',
  details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', domain: 'identity', reason, metadata }],
});

describe('the error of a server', () => {
  it("has the command's text, whatever the server's sentence is", () => {
    const error = organisationsExist({ orgIds: ['1', '2'] });
    expect(error.message).toMatch(/^organisations of the file exist already: 1, 2: .*`on_conflict`$/);
    const text = rejection(reworded(error));
    expect(text).toMatch(/^organisations of the file exist already: 1, 2: .*--exclude-org.*--on-conflict fail$/);
    expect(text).toBe(error.commandMessage);
  });

  it.each([
    ['has no name', { message: 'as the server words it' }],
    ['has the name of a newer server', withReason('OF_A_NEWER_SERVER', { field: 'x' })],
    ['lacks a parameter of the text', withReason('ORGANISATIONS_EXIST')],
    ["has ZITADEL's id", { ...tokenInvalid().toJson(), message: 'as the server words it' }],
  ])('is printed as it is if it %s', (_which, error) => {
    expect(rejection(error)).toBe('as the server words it');
  });

  it('about a file names its first ten invalid fields', () => {
    const violations = Array.from({ length: 12 }, (_, index) => ({ field: `orgs[${index}].org`, description: 'bad' }));
    const fields = violations.slice(0, 10).map(({ field }) => `${field}: bad`);
    expect(rejection(reworded(invalidRequest(violations)))).toBe(`${fields.join('; ')}; and at least 2 other fields`);
    expect(rejection(invalidRequest([{ field: 'timeout', description: 'is too long' }]))).toBe('timeout: is too long');
  });
});
