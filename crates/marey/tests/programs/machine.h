/* What is put into the function that calls it, at its own lines.

   These have the numbers of lines of that function, so that
   one who looks at numbers alone takes the one for the other.
*/

static inline double relax(double value, double next)
{
    double sum = value + next;
    return sum / (value * next + 1.0);               /* divided */
}
