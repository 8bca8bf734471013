/** The content of a message's JSON that is not in its definition, and that the wire's JSON mapping ignores. */
export interface UnknownContent {
  /** The paths of unknown fields, such as `user.favouriteColour`, without the positions in lists. */
  readonly fields: readonly string[];
  /** Unknown enumeration values, by the fields' paths in JSON names, such as `user.profile.gender`. */
  readonly values: readonly { readonly path: string; readonly value: string | number }[];
}

/** For a message without unknown content. */
export const nothingUnknown: UnknownContent = { fields: [], values: [] };
