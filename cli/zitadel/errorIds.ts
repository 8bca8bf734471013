// The ids of ZITADEL's errors, by meaning.

import { recordSections } from '../../shared/organisation/sections.ts';

// Texts are translated to the instance's language, so the command recognises errors by their ids, which differ between
// releases. Each id stands with the releases in which it was seen.

/** The ids of ZITADEL's errors, by meaning. */
const errorIds = {
  /** The caller has no role. */
  noMembership: ['AUTHZ-cdgFk'], // 4.0
  /** The ZITADEL does not have the organisation of the request's header. */
  noOrganisation: ['AUTH-Bs7Ds'], // 4.0
  /** Another record has the name, or another organisation the verified domain. */
  taken: ['V3-DKcYh'], // 2.71, 4.0
  /** ZITADEL does not deactivate an initial person. */
  initial: ['COMMAND-ke0fw'], // 2.71, 4.x
  /** The user is deactivated, or locked, already. */
  closed: ['COMMAND-5M0sf', 'COMMAND-3NN8v'], // 2.71, 4.x
  /** The organisation does not have the identity provider of a link. */
  noProvider: ['COMMAND-39nf2'], // 4.0
} as const;

/** A meaning of errors that the command recognises. */
type ErrorMeaning = keyof typeof errorIds;

/** Whether a message has an id of a meaning: imports have it first (`ID=…`), other responses last, in parentheses. */
export function hasErrorId(message: string, meaning: ErrorMeaning): boolean {
  const found = errorIdIn(message);
  return errorIds[meaning].some((id) => id === found);
}

/** Returns the id in a message; undefined for one without. */
function errorIdIn(message: string): string | undefined {
  const [, first, last] = /^ID=(\S+)|\(([\w-]+)\)$/.exec(message) ?? [];
  return first ?? last;
}

const exists = new Set(
  [
    // 4.0 (zitadel 5.7)
    ...recordSections.map(
      ({
        error: {
          type,
          exists: { id },
        },
      }) => [type, id],
    ),
    ['human_user_otp', 'COMMAND-do9se'], // 4.0
    ['org', 'ORG-lapo2m'], // 2.71
    ['project_grant_member', 'V3-DKcYh'], // 2.71
  ].map((pair) => pair.join(' ')),
);

/** Whether an error of an import reports that the record exists. */
export function reportsExisting({ type, message }: { readonly type: string; readonly message: string }): boolean {
  return exists.has(`${type} ${errorIdIn(message)}`);
}
