import type { UnknownContent } from '../../../shared/organisation/unknownContent.ts';

const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 200;
/** The name under which the fields beyond the limit are counted; no JSON path of a message has it. */
const OTHERS = '*';

/** The numbers of unknown values in an export file, by field. Their names are limited, so memory and response are too. */
export class UnknownFields {
  private readonly counted = new Map<string, number>();

  /** Counts an unknown field of an organisation, or an element of it. */
  readonly addField = (name: string): void => {
    const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
    const counted = this.counted.has(short) || this.counted.size < MAX_NAMES ? short : OTHERS;
    this.counted.set(counted, (this.counted.get(counted) ?? 0) + 1);
  };

  /** Counts the unknown fields of a record. */
  addRecord(section: string, { fields }: UnknownContent): void {
    for (const path of fields) this.addField(`${section}.${path}`);
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.counted);
  }
}
