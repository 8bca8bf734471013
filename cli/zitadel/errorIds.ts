// The ids of ZITADEL's errors.

import { recordSections } from '../../shared/organisation/allSections.ts';
import { linkedProvider } from '../../shared/organisation/sections/identityProviders.ts';
import { taken } from '../../shared/organisation/sections/sharedReferences.ts';

// ZITADEL translates texts to the instance's language, so the command recognises errors by their ids. Ids differ
// between releases. The comment after each id lists the releases in which it was seen.

/** Ids of ZITADEL's errors, by meaning. `recordKinds.ts` contains the ids of errors about a single kind of record. */
export const errorIds = {
  /** The caller has no role. */
  noMembership: ['AUTHZ-cdgFk'], // 4.0
  /** ZITADEL does not have the organisation in the request's header. */
  noOrganisation: ['AUTH-Bs7Ds'], // 4.0
  /** No instance of ZITADEL serves the host of the request. */
  unknownHost: ['QUERY-1kIjX'], // 2.71, 4.x
  /** Another record has the name, or another organisation has the verified domain. */
  taken: [taken('Errors.Already.Exists').id], // 2.71, 4.0
  /** The organisation does not have the identity provider of a link. */
  noProvider: [linkedProvider.missing.id], // 4.0
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Texts of errors that libraries create. These errors have no id, and their codes are not unique. Libraries do not
 * translate these texts, so the texts identify the errors.
 */
export const errorTexts = {
  /** gRPC rejects a message above the server's limit. Exceeded quotas have the same code, 8. */
  requestTooLarge: 'received message larger than max', // 2.71, 3.4, 4.x
  /** Go ends an import at its timeout. The code is 2, UNKNOWN. */
  timedOut: 'context deadline exceeded', // 2.71, 3.4, 4.x
  /** The client rejects a response above `readMaxBytes`. Errors about ZITADEL's limits have the same code, 8. */
  responseTooLarge: 'readMaxBytes',
  /** The client converts a gateway's timeout to this text. Other outages have the same code, 14. */
  gatewayTimeout: 'HTTP 504',
} as const;

/**
 * Whether a message contains one of the given ids. Errors of imports begin with the id (`ID=…`). The response for an
 * unknown host contains the id after a colon. Other responses end with the id in parentheses.
 */
export function hasErrorId(message: string, ids: readonly string[]): boolean {
  const found = errorIdIn(message);
  return ids.some((id) => id === found);
}

/** Returns the id in a message; undefined if the message contains none. */
function errorIdIn(message: string): string | undefined {
  const [, first, last] = /(?:^|: )ID=(\S+)|\(([\w-]+)\)$/.exec(message) ?? [];
  return first ?? last;
}

const exists = new Set(
  [
    // The ids of the errors about records that already exist (zitadel 5.7).
    ...recordSections.flatMap(({ error: { type, exists, existsToo = [] } }) => [
      [type, exists.id],
      ...existsToo.map((other) => [other.type ?? type, other.id]),
    ]),
  ].map((pair) => pair.join(' ')),
);

/** Whether an error of an import reports that the record exists. */
export function reportsExisting({ type, message }: { readonly type: string; readonly message: string }): boolean {
  return exists.has(`${type} ${errorIdIn(message)}`);
}
