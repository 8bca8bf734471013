import { domainToASCII, domainToUnicode } from 'node:url';

export interface Person {
  readonly userId: string;
  /** The id of the person's organisation. Empty if the token does not permit searching for the person. */
  readonly orgId: string;
  readonly userName: string;
  /** Empty if the person has no e-mail address. */
  readonly email: string;
  /**
   * The login names of a person in ZITADEL. Login names contain a domain of the organisation. Absent for a person in
   * this service, which has no login.
   */
  readonly loginNames?: readonly string[];
}

/**
 * Functions that compare a field of a person with a searched text. The key is the name of the field in messages. Only
 * ids are case-sensitive.
 */
const searchedFields = {
  id: ({ userId }: Person, text: string) => userId === text,
  'user name': ({ userName }: Person, text: string) => searchKey(userName) === searchKey(text),
  'e-mail address': ({ email }: Person, text: string) => searchKey(email) === searchKey(text),
  'login name': ({ loginNames = [] }: Person, text: string) =>
    loginNames.some((name) => searchKey(name) === searchKey(text)),
};

/** `matchedBy` contains the names of the fields that match. */
export interface Match extends Person {
  readonly matchedBy: readonly string[];
}

export interface People {
  /**
   * Finds people by id, user name, e-mail address or login name. Only ids are case-sensitive.
   * @returns for each text, the people who match it
   * @throws IdentityError if the people cannot be read
   */
  find(users: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly Match[]>>;
  hasOtpEmail(userId: string, signal: AbortSignal): Promise<boolean>;
  /** @throws IdentityError if the factor does not exist or cannot be removed */
  removeOtpEmail(userId: string, signal: AbortSignal): Promise<void>;
}

/**
 * Searches for people by several texts at once. The caller adds all people of a place, and the search keeps those who
 * match.
 */
export class PersonSearch {
  private readonly users: readonly string[];
  /**
   * The people who may match a text; `matches` selects those who do. The outer key is the `searchKey` of the text, the
   * inner key is the user id.
   */
  private readonly candidates: ReadonlyMap<string, Map<string, Person>>;

  constructor(users: readonly string[]) {
    this.users = users;
    this.candidates = new Map(users.map((user) => [searchKey(user), new Map()]));
  }

  /** A person who is added again replaces the earlier entry. */
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
 * Returns a name in lower case, with the domain of an e-mail address or login name in ASCII. Names that count as equal
 * result in the same text.
 */
function searchKey(name: string): string {
  const [local, domain] = splitDomain(name);
  // `domainToASCII` returns an empty text if the part after `@` is not a DNS name. User names may contain such parts.
  return (domain === undefined ? local : `${local}@${domainToASCII(domain) || domain}`).toLowerCase();
}

/**
 * Returns the spellings in which ZITADEL may store a name: as given, with the domain in ASCII, and with the domain in
 * Unicode.
 */
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
