import type { ButtonHTMLAttributes } from 'preact';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class'> {
  readonly text: string;
  readonly variant?: string;
}

/** A button with a border, or filled: `is="primary"`. */
export function Button({ text, variant = '', ...others }: ButtonProps) {
  return (
    <button type="button" class={`button ${variant}`} {...others}>
      {text}
    </button>
  );
}

/** A button that looks like a link. */
export function LinkButton({ text, variant = '', ...others }: ButtonProps) {
  return (
    <button type="button" class={`link ${variant}`} {...others}>
      {text}
    </button>
  );
}
