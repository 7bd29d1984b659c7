import type { ButtonHTMLAttributes } from 'preact';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class'> {
  readonly text: string;
  readonly variant?: string;
}

/** A button with a border, filled (`primary`), or without both (`ghost`). */
export function Button({ text, variant = '', ...others }: ButtonProps) {
  return (
    <button type="button" class={`button ${variant}`} {...others}>
      {text}
    </button>
  );
}
