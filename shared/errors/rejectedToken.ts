/** The cause of an error about a token that a place rejects: a person can be asked for another file. */
export class RejectedToken {
  /** The option that names the token's file, such as `--from-token-file`. */
  readonly option: string;

  constructor(option: string) {
    this.option = option;
  }
}
