/**
 * Writes the text of an export file. Callers pass records and fields as JSON texts. This class adds the brackets around
 * them and the commas between them.
 */
export class FileWriter {
  private texts: string[] = ['{"orgs":['];
  private field: string | undefined;
  private isList = false;
  /**
   * The text to write before the next entry of `orgs` (`entry`), and before the next record of the current field
   * (`record`).
   */
  private readonly separators = { entry: '', record: '' };

  /** @param opening the beginning of an organisation's entry, such as `{"orgId":"1"` */
  begin(opening: string): void {
    this.texts.push(`${this.separators.entry}${opening}`);
    this.separators.entry = ',';
  }

  /** Adds values to a field of the current entry. If the field is not a list, `values` must contain a single value. */
  add(field: { readonly name: string; readonly isList: boolean }, values: readonly string[]): void {
    if (field.name !== this.field) {
      this.closeField();
      this.field = field.name;
      this.isList = field.isList;
      this.separators.record = `,"${field.name}":${field.isList ? '[' : ''}`;
    }
    for (const value of values) {
      this.texts.push(`${this.separators.record}${value}`);
      this.separators.record = ',';
    }
  }

  /** @param fields the entry's last fields, such as `,"orgState":"ORG_STATE_ACTIVE"` */
  end(fields = ''): void {
    this.closeField();
    this.texts.push(`${fields}}`);
  }

  finish(manifest?: object): void {
    this.texts.push(manifest === undefined ? ']}' : `],"manifest":${JSON.stringify(manifest)}}\n`);
  }

  take(): readonly string[] {
    const { texts } = this;
    this.texts = [];
    return texts;
  }

  private closeField(): void {
    if (this.field !== undefined && this.isList) this.texts.push(']');
    this.field = undefined;
  }
}
