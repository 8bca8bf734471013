import { recordSections } from '../../shared/organisation/allSections.ts';
import { linkedProvider } from '../../shared/organisation/sections/identityProviders.ts';
import { taken } from '../../shared/organisation/sections/sharedReferences.ts';

// ZITADEL translates the texts of its errors to the instance's language. So the command recognises errors by their ids,
// which differ between releases. The comment after an id lists the releases in which the id was seen.

/** `recordKinds.ts` contains the ids of errors that concern only one kind of record. */
export const errorIds = {
  /** The caller has no role, neither in the instance nor in an organisation. */
  noMembership: ['AUTHZ-cdgFk'], // 4.0
  /** ZITADEL does not have the organisation that the request's header selects. */
  noOrganisation: ['AUTH-Bs7Ds'], // 4.0
  /** ZITADEL has no instance for the host of the request. */
  unknownHost: ['QUERY-1kIjX'], // 2.71, 4.x
  /** Another record already has the name, or another organisation already has the verified domain. */
  taken: [taken('Errors.Already.Exists').id], // 2.71, 4.0
  /** A person's link refers to an identity provider that the organisation does not have. */
  noProvider: [linkedProvider.missing.id], // 4.0
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Texts of errors that libraries create. The command recognises these errors by their texts, because the errors have no
 * ids and share their codes with other errors. Libraries do not translate these texts.
 */
export const errorTexts = {
  /**
   * gRPC rejects a message that is larger than the server's limit. The error about an exceeded quota has the same code,
   * 8.
   */
  requestTooLarge: 'received message larger than max', // 2.71, 3.4, 4.x
  /**
   * The programming language Go creates this error when an import exceeds its time limit. The error's code is 2,
   * UNKNOWN.
   */
  timedOut: 'context deadline exceeded', // 2.71, 3.4, 4.x
  /**
   * The client of this command rejects a response that is larger than `readMaxBytes`. Errors about ZITADEL's own limits
   * have the same code, 8.
   */
  responseTooLarge: 'readMaxBytes',
  /**
   * The client of this command reports a gateway's timeout with this text. Errors about other outages have the same
   * code, 14.
   */
  gatewayTimeout: 'HTTP 504',
} as const;

/**
 * True if a message contains one of the given ids. In an error of an import, the id is at the beginning (`ID=…`). In
 * the response for an unknown host, the id follows a colon. In other responses, the id is at the end, in parentheses.
 */
export function hasErrorId(message: string, ids: readonly string[]): boolean {
  const errorId = errorIdIn(message);
  return ids.some((id) => id === errorId);
}

function errorIdIn(message: string): string | undefined {
  const [, first, last] = /(?:^|: )ID=(\S+)|\(([\w-]+)\)$/.exec(message) ?? [];
  return first ?? last;
}

const exists = new Set(
  [
    // The errors with which ZITADEL reports that a record exists; see zitadel 5.7.
    ...recordSections.flatMap(({ error: { type, exists, existsToo = [] } }) => [
      [type, exists.id],
      ...existsToo.map((other) => [other.type ?? type, other.id]),
    ]),
  ].map((pair) => pair.join(' ')),
);

/** Whether an error of an import means that the record already exists. */
export function reportsExisting({ type, message }: { readonly type: string; readonly message: string }): boolean {
  return exists.has(`${type} ${errorIdIn(message)}`);
}
