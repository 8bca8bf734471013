type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/**
 * Returns the fields except those that are undefined. Use it for types whose optional fields must be absent rather than
 * undefined.
 * @example defined({ id: '1', name: undefined }); // { id: '1' }
 */
export function defined<const Fields extends object>(fields: Fields): Defined<Fields>;
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined | false> };

/**
 * Returns the fields except those with the value undefined, false, 0, an empty text, an empty list or an object without
 * fields.
 * @example
 *     withoutEmpty({ orgs: 1, errors: [], errorsOmitted: 0 }); // { orgs: 1 }
 */
export function withoutEmpty<const Fields extends object>(fields: Fields): Present<Fields>;
export function withoutEmpty(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === false || value === 0 || value === '';
  return Object.keys(value).length === 0;
}
