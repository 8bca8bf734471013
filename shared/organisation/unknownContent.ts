/** The content of a message's JSON that is not in the message's definition. A protobuf decoder ignores such content. */
export interface UnknownContent {
  /**
   * The paths of unknown fields, such as `user.favouriteColour`. If a path leads through a list, it does not contain
   * the position in the list.
   */
  readonly fields: readonly string[];
  /**
   * Unknown enumeration values, each with the path of the field, such as `user.profile.gender`. The path has JSON
   * names.
   */
  readonly values: readonly { readonly path: string; readonly value: string | number }[];
}

export const nothingUnknown: UnknownContent = { fields: [], values: [] };
