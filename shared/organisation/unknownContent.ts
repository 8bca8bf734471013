/** The content of a message's JSON that its definition does not have, and that the wire's JSON mapping ignores. */
export interface UnknownContent {
  /** The paths of unknown fields, such as `user.favouriteColour`, without the positions in lists. */
  readonly fields: readonly string[];
  /** The values of enumerations, by the fields' paths in JSON names, such as `user.profile.gender`. */
  readonly values: readonly { readonly path: string; readonly value: string | number }[];
}

/** The unknown content of a message that has none. */
export const nothingUnknown: UnknownContent = { fields: [], values: [] };
