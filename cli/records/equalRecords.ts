import { type Counts, increase } from '../../shared/collections/counts.ts';
import type { EqualRecord } from '../../shared/exportFile/pairedExports.ts';
import { isJsonObject, textAt } from '../../shared/json/jsonObject.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';

const PASSWORD_FIELD = `"${personCredentials.password.path.split('.').at(-2)}":`;

/** The maximum number of names to keep. Plans and results print fewer names. */
const MAX_NAMES = 10;

export interface NamedPeople {
  count: number;
  readonly names: string[];
}

export interface EqualRecordCounts {
  readonly counts: Counts;
  readonly withPassword: NamedPeople;
}

/**
 * Counts the records that have the same bytes in the exports of both sides. These records are only counted, and are not
 * in the run's database.
 */
export class EqualRecords {
  private readonly counted = new Map<string, EqualRecordCounts>();

  get organisations(): ReadonlyMap<string, EqualRecordCounts> {
    return this.counted;
  }

  add({ section, orgId, text, json }: EqualRecord): void {
    const organisation = this.counted.get(orgId) ?? { counts: {}, withPassword: { count: 0, names: [] } };
    this.counted.set(orgId, organisation);
    increase(organisation.counts, section.name);
    // PASSWORD_FIELD is the name of the field in quotes. A JSON string would contain these quotes only in escaped form.
    // So every match is a field.
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
