/** The same fields; those that may be undefined become optional. */
type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/**
 * Returns the fields without the undefined ones, for types whose optional fields must be absent or have a value.
 * @example
 *     defined({ id: '1', name: undefined }); // { id: '1' }
 */
export function defined<const Fields extends object>(fields: Fields): Defined<Fields>;
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
