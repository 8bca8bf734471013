import { type Counts, increase } from '../../shared/collections/counts.ts';
import type { EqualRecord } from '../../shared/exportFile/pairedExports.ts';
import { isJsonObject, textAt } from '../../shared/json/jsonObject.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';

const PASSWORD_FIELD = `"${personCredentials.password.path.split('.').at(-2)}":`;

/** The maximum number of names. Plans and results print fewer. */
const MAX_NAMES = 10;

/** The number of some people, and the names of the first people. */
export interface NamedPeople {
  count: number;
  readonly names: string[];
}

/** The equal records of an organisation. */
export interface EqualRecordCounts {
  /** The numbers of records by section. */
  readonly counts: Counts;
  /** The people with a password. */
  readonly withPassword: NamedPeople;
}

/** Counts the records that both sides export with the same bytes. These records are not in the run's database. */
export class EqualRecords {
  private readonly counted = new Map<string, EqualRecordCounts>();

  /** The equal records by organisation. */
  get organisations(): ReadonlyMap<string, EqualRecordCounts> {
    return this.counted;
  }

  add({ section, orgId, text, json }: EqualRecord): void {
    const organisation = this.counted.get(orgId) ?? { counts: {}, withPassword: { count: 0, names: [] } };
    this.counted.set(orgId, organisation);
    increase(organisation.counts, section.name);
    // A quote inside a value is escaped, so this text can only be the name of a field.
    if (section.name !== humanUserSection.name || !text.includes(PASSWORD_FIELD)) return;
    const { withPassword } = organisation;
    withPassword.count++;
    const person = withPassword.names.length < MAX_NAMES ? json() : undefined;
    if (isJsonObject(person)) withPassword.names.push(textAt(person, 'user.userName', ''));
  }

  reset(): void {
    this.counted.clear();
  }
}
