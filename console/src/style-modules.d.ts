/** A style sheet as the bundle imports it. */
declare module '*.css' {
  export const style: string;
}
