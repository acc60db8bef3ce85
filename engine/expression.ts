/** The small language of `exit_conditions` and `when`. */
export type Expression = { readonly source: string };
