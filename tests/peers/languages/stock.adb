--  SPDX-License-Identifier: BSD-2-Clause
--  Records, arrays, strings, access types and nested subprograms of Ada, whose variables
--  test_sweep.py compares.
with Ada.Text_IO;
with Interfaces; use Interfaces;

procedure Stock is
   type Grade is (Low, Middle, High);
   type Point is record
      X, Y : Integer;
   end record;
   type Item is record
      Id    : Unsigned_32;
      Price : Long_Float;
      At_P  : Point;
      Level : Grade;
      Sold  : Boolean;
   end record;
   type Item_Access is access all Item;
   type Vector is array (Positive range <>) of Integer;
   subtype Triple is Vector (1 .. 3);
   subtype Small is Integer range -100 .. 100;

   Calls : Long_Integer := 7;
   Table : constant array (0 .. 3) of Integer_16 := (1, 20, 300, 4000);

   function Add (A, B : Integer) return Integer is
      Sum : constant Integer := A + B;
   begin
      Calls := Calls + Long_Integer (Sum);
      return Sum;
   end Add;
   pragma No_Inline (Add);

   function Mix (Seed : Unsigned_64; Little : Unsigned_8; Below : Integer_16; Wide : Unsigned_32)
      return Unsigned_64
   is
      H : Unsigned_64 := Seed xor Unsigned_64 (Little);
   begin
      for I in 0 .. 3 loop
         H := H * 16#100000001b3# + Unsigned_64 (Wide);
         H := H xor Unsigned_64 (abs Integer (Below) + I);
      end loop;
      return H;
   end Mix;
   pragma No_Inline (Mix);

   function Scale (F : Long_Float; G : Float; By : Integer) return Long_Float is
      Wide   : constant Long_Float := F * Long_Float (By);
      Narrow : constant Float := G / 2.0;
   begin
      return Wide + Long_Float (Narrow);
   end Scale;
   pragma No_Inline (Scale);

   function Letters (Text : String; Wanted : Character) return Natural is
      N : Natural := 0;
   begin
      for C of Text loop
         if C = Wanted then
            N := N + 1;
         end if;
      end loop;
      return N;
   end Letters;
   pragma No_Inline (Letters);

   function Sum_Of (V : Vector) return Integer is
      Total : Integer := 0;
   begin
      for I in V'Range loop
         Total := Total + V (I) * I;
      end loop;
      return Total;
   end Sum_Of;
   pragma No_Inline (Sum_Of);

   function Pick (T : Triple; I : Natural) return Integer is
      V : constant Integer := T (I mod 3 + 1);
   begin
      return V + 1;
   end Pick;
   pragma No_Inline (Pick);

   function Classify (N : Integer; Strict : Boolean) return Grade is
      G : Grade := Low;
   begin
      if N > 5 then
         G := High;
      elsif Strict then
         G := Middle;
      end if;
      return G;
   end Classify;
   pragma No_Inline (Classify);

   procedure Fill (It : out Item; Id : Unsigned_32) is
   begin
      It.Id := Id;
      It.Price := Long_Float (Id) + 0.25;
      It.At_P := (Integer (Id), -Integer (Id));
      It.Level := Classify (Integer (Id) * 2, Id mod 2 = 1);
      It.Sold := Id mod 2 = 0;
   end Fill;
   pragma No_Inline (Fill);

   function Cost (It : Item; N : Integer) return Long_Float is
      Each : Long_Float := It.Price * Long_Float (N);
   begin
      if It.Sold then
         Each := Each - 1.0;
      end if;
      return Each + Long_Float (It.At_P.Y);
   end Cost;
   pragma No_Inline (Cost);

   function Move (P, By : Point) return Point is
      Q : Point := P;
   begin
      Q.X := Q.X + By.X;
      Q.Y := Q.Y - By.Y;
      return Q;
   end Move;
   pragma No_Inline (Move);

   procedure Swap (A, B : in out Integer) is
      Old : constant Integer := A;
   begin
      A := B;
      B := Old;
   end Swap;
   pragma No_Inline (Swap);

   function Recurse (N, Acc : Integer) return Integer is
      Next : Integer;
   begin
      if N = 0 then
         return Acc;
      end if;
      Next := Acc * 2 + N;
      return Recurse (N - 1, Next) + 1;
   end Recurse;
   pragma No_Inline (Recurse);

   function Many (A, B, C, D, E, F, G, H : Long_Integer) return Long_Integer is
      Left  : constant Long_Integer := A - B + C - D;
      Right : constant Long_Integer := E - F + G - H;
   begin
      return Left * Right;
   end Many;
   pragma No_Inline (Many);

   function Outer (N : Integer) return Integer is
      Base : Integer := N * 10;
      function Inner (X : Integer) return Integer is
         Y : constant Integer := X + Base;
      begin
         Base := Base + Y;
         return Y * 2;
      end Inner;
      pragma No_Inline (Inner);
      First : constant Integer := Inner (1);
   begin
      return First + Inner (2);
   end Outer;
   pragma No_Inline (Outer);

   function Through (P : Item_Access; By : Small) return Integer is
      Level : constant Grade := P.Level;
      N     : Integer := By;
   begin
      if Level = High then
         N := N + P.At_P.X;
      end if;
      return N;
   end Through;
   pragma No_Inline (Through);

   function Caught (N : Integer) return Integer is
      Got : Integer := -1;
   begin
      if N = 3 then
         raise Constraint_Error;
      end if;
      Got := Integer (Table (N mod 4));
      return Got;
   exception
      when Constraint_Error =>
         return Got - 5;
   end Caught;
   pragma No_Inline (Caught);

   function Bits (A : Integer_8; B : Unsigned_16; C : Integer_64; Ok : Boolean) return Integer_64 is
      D : Integer_64 := C;
   begin
      if Ok then
         D := D + Integer_64 (A);
      end if;
      return D * Integer_64 (B);
   end Bits;
   pragma No_Inline (Bits);

   generic
      type T is private;
      with function ">" (L, R : T) return Boolean is <>;
   function Larger (L, R : T) return T;
   function Larger (L, R : T) return T is
      Best : T := L;
   begin
      if R > L then
         Best := R;
      end if;
      return Best;
   end Larger;
   function Larger_Int is new Larger (Integer);
   pragma No_Inline (Larger_Int);
   function Larger_Float is new Larger (Long_Float);
   pragma No_Inline (Larger_Float);

   Total : Long_Integer := 0;
   Here  : aliased Item;
   X, Y  : Integer;
begin
   for I in 0 .. 5 loop
      Fill (Here, Unsigned_32 (I));
      Total := Total + Long_Integer (Cost (Here, I)) + Long_Integer (Add (I, -7));
      Total := Total + Long_Integer (Mix (Unsigned_64 (I), 250, Integer_16 (-I), 4_000_000_000) and 255);
      Total := Total + Long_Integer (Scale (Long_Float (I) + 0.5, 2.5, I));
      Total := Total + Long_Integer (Letters ("all that is shown", Character'Val (97 + I)));
      Total := Total + Long_Integer (Sum_Of ((I, 2, 3, I)) + Pick ((1, I, 3), I));
      Total := Total + Long_Integer (Move ((I, 1), Here.At_P).X + Recurse (I, 1));
      Total := Total + Many (Long_Integer (I), 2, 3, 4, 5, 6, 7, Long_Integer (-I));
      Total := Total + Long_Integer (Outer (I) + Through (Here'Unrestricted_Access, I) + Caught (I));
      Total := Total + Long_Integer (Bits (Integer_8 (-I), Unsigned_16 (I), 2 ** 40, I mod 2 = 0) mod 251);
      Total := Total + Long_Integer (Larger_Int (I, 3)) + Long_Integer (Larger_Float (1.5, Long_Float (I)));
      X := I;
      Y := I * 3;
      Swap (X, Y);
      Total := Total + Long_Integer (X - Y) + Grade'Pos (Classify (I, False));
   end loop;
   Ada.Text_IO.Put_Line (Total'Image);
end Stock;
