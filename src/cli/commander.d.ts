/** Commander's types, with those of options and operands inferred from their declarations. */
declare module 'commander' {
  export * from '@commander-js/extra-typings';
}
