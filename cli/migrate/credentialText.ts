import { counted, firstOf, numberText } from '../terminal/numberTexts.ts';
import type { CredentialSummary } from './migrationTypes.ts';

const secondFactorTexts: Readonly<
  Record<CredentialSummary['secondFactors'], readonly [compared: string, others: string]>
> = {
  all: ['second factors', ''],
  otp: ['TOTP seed, OTP e-mail factor', '; other second factors do not move, and are not compared'],
  totp: ['TOTP seed', '; other second factors do not move, and are not compared'],
  none: ['', '; second factors do not move, and are not compared'],
};

/**
 * Returns one sentence about people with equal credentials, and one phrase for each reason why other people's
 * credentials do not count as equal.
 */
export function describeCredentials(
  { people, withPassword, kept, secondFactors, others }: CredentialSummary,
  targetKind: string,
) {
  const without = people - withPassword;
  const [peopleText, withPasswordText] = [counted(people, 'person'), counted(withPassword, 'person')];
  const [compared, uncompared] = secondFactorTexts[secondFactors];
  const [have, are] = kept === 1 ? ['has', 'is'] : ['have', 'are'];
  const same = listText(['password hash', ...(compared === '' ? [] : [compared]), 'state']);
  const verified = `a password hash that ZITADEL verifies by default${compared === '' ? '' : ` and the same ${compared}`}`;
  const statement =
    targetKind === 'zitadel' ? `${are} active in ZITADEL, with ${verified}` : `${have} the same ${same} on both sides`;
  const withoutPasswordText =
    without === 0
      ? []
      : [`${numberText(without)} of ${peopleText} ${without === 1 ? 'has' : 'have'} no password in the export`];
  const sentence = `${numberText(kept)} of ${withPasswordText} with a password ${statement}${uncompared}`;
  return {
    sentence: [...(withPassword === 0 ? [] : [sentence]), ...withoutPasswordText].join('; '),
    reasons: others.map(({ reason, count, names }) => `${numberText(count)} ${reason}: ${firstOf(names, count)}`),
  };
}

function listText(nouns: readonly string[]): string {
  return `${nouns.slice(0, -1).join(', ')} and ${nouns.at(-1)}`;
}
