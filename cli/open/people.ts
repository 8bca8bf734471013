// Finds people of an instance of this service or of ZITADEL.

import { domainToASCII, domainToUnicode } from 'node:url';

/** A person in an instance of this service or in ZITADEL. */
export interface Person {
  readonly userId: string;
  /** The id of the person's organisation. Empty if the token does not permit the search for the person. */
  readonly orgId: string;
  readonly userName: string;
  /** Empty if the person has no e-mail address. */
  readonly email: string;
  /**
   * The login names, which contain the domains of the organisation. Absent for an instance of this service, which has
   * no login.
   */
  readonly loginNames?: readonly string[];
}

/**
 * Compares a person's fields with a searched text, by the names of the fields in messages. Only ids are case-sensitive.
 */
const searchedFields = {
  id: ({ userId }: Person, text: string) => userId === text,
  'user name': ({ userName }: Person, text: string) => searchKey(userName) === searchKey(text),
  'e-mail address': ({ email }: Person, text: string) => searchKey(email) === searchKey(text),
  'login name': ({ loginNames = [] }: Person, text: string) =>
    loginNames.some((name) => searchKey(name) === searchKey(text)),
};

/** A person that matches a text, and the names of the matching fields. */
export interface Match extends Person {
  readonly matchedBy: readonly string[];
}

/** The people of an instance of this service or of ZITADEL, and their OTP e-mail factors. */
export interface People {
  /**
   * Finds people by id, user name, e-mail address or login name. Only ids are case-sensitive.
   * @returns the matches of each text
   * @throws IdentityError
   */
  find(users: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly Match[]>>;
  hasOtpEmail(userId: string, signal: AbortSignal): Promise<boolean>;
  /** @throws IdentityError if the factor does not exist or cannot be removed */
  removeOtpEmail(userId: string, signal: AbortSignal): Promise<void>;
}

/** Searches all people of a place for several texts at once. */
export class PersonSearch {
  private readonly users: readonly string[];
  /** The people that may match the texts, by search key and user id. */
  private readonly candidates: ReadonlyMap<string, Map<string, Person>>;

  constructor(users: readonly string[]) {
    this.users = users;
    this.candidates = new Map(users.map((user) => [searchKey(user), new Map()]));
  }

  /** Adds a person to the searched people. The same person may be added several times. */
  add(person: Person): void {
    const { userId, userName, email, loginNames = [] } = person;
    for (const name of [userId, userName, email, ...loginNames])
      this.candidates.get(searchKey(name))?.set(userId, person);
  }

  reset(): void {
    for (const people of this.candidates.values()) people.clear();
  }

  get found(): ReadonlyMap<string, readonly Match[]> {
    return new Map(this.users.map((user) => [user, this.matches(user)]));
  }

  private matches(user: string): readonly Match[] {
    const candidates = this.candidates.get(searchKey(user))?.values() ?? [];
    return [...candidates].map((person) => toMatch(person, user)).filter(({ matchedBy }) => matchedBy.length > 0);
  }
}

function toMatch(person: Person, text: string): Match {
  const fields = Object.entries(searchedFields).filter(([, matches]) => matches(person, text));
  return { ...person, matchedBy: fields.map(([name]) => name) };
}

/**
 * Returns a name in the form for comparisons: in lower case, and with the domain of an e-mail address or login name in
 * ASCII.
 */
function searchKey(name: string): string {
  const [local, domain] = splitDomain(name);
  // `domainToASCII` returns an empty text if the text is not a DNS name, such as a part of a user name.
  return (domain === undefined ? local : `${local}@${domainToASCII(domain) || domain}`).toLowerCase();
}

/** Returns the spellings that ZITADEL may have for a name: with the domain in ASCII, and in Unicode. */
export function spellings(name: string): readonly string[] {
  const [local, domain] = splitDomain(name);
  if (domain === undefined) return [name];
  const others = [domainToASCII(domain), domainToUnicode(domain)].filter((other) => other !== '');
  return [...new Set([name, ...others.map((other) => `${local}@${other}`)])];
}

function splitDomain(name: string): readonly [local: string, domain: string | undefined] {
  const at = name.lastIndexOf('@');
  return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
}
