import { userInfo } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemAccount } from '../../../shared/audit/openAudit.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('the account that runs a command', () => {
  it.each([
    [0, 'ann', `${userInfo().username} (sudo by ann)`],
    [0, '', userInfo().username],
    [1000, 'ann', userInfo().username],
  ])('with the id %i and SUDO_USER %j is %s', (id, caller, account) => {
    vi.stubEnv('SUDO_USER', caller);
    vi.spyOn(process, 'geteuid').mockReturnValue(id);
    expect(systemAccount()).toBe(account);
  });
});
