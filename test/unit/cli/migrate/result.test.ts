import { describe, expect, it } from 'vitest';
import { remedyAfterwards } from '../../../../cli/migrate/result.ts';
import { leftToDoRules } from '../../../../shared/organisation/leftToDoRules.ts';

describe('the remedy for secrets that did not move with people', () => {
  it.each([
    [
      'instance',
      'passwords',
      'include them by `with_passwords` and `on_conflict` overwrite, or people who lack them must',
    ],
    ['database', 'otp', 'include them by `with_otp` and `on_conflict` overwrite, or people who lack them must'],
    ['zitadel', 'passwords', 'hashes: people who lack them must'],
    ['zitadel', 'otp', 'include them by `with_otp`, or people who lack them must'],
    ['file', 'otp', 'include them by `with_otp`, or people must'],
  ])('is in a target of the kind %s, for %s, what the target does', (kind, secret, remedy) => {
    const { message = '' } = leftToDoRules.find((rule) => rule.message.includes(`by \`with_${secret}\``)) ?? {};
    expect(remedyAfterwards(message, kind)).toContain(remedy);
  });
});
