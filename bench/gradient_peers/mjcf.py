"""The scenes as MJCF, for the programs that read it."""

from scenes import FOOT, HALF, MASS, MU, RADIUS, SIDE, G, H, Scene

_INERTIA = MASS * 2 * HALF**2 / 3
_FEET = "".join(
    f'<geom type="sphere" size="{FOOT}" pos="{x * SIDE} {y * SIDE} {FOOT - HALF}"/>'
    for x in (-1, 1)
    for y in (-1, 1)
)


def mjcf(scene: Scene, cone: str = "elliptic") -> str:
    """A body whose centre is HALF, or RADIUS and `above`, above the floor; a motor pushes it."""
    sphere = f'<geom type="sphere" size="{RADIUS}"/>'
    height = RADIUS + scene.above if scene.above else HALF
    return f"""<mujoco>
  <option timestep="{H}" gravity="0 0 {-G}" cone="{cone}" iterations="100" tolerance="1e-14"/>
  <default><geom condim="3" friction="{MU} 0 0"/></default>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 {height}"><freejoint name="free"/>
      <inertial mass="{MASS}" pos="0 0 0" diaginertia="{_INERTIA} {_INERTIA} {_INERTIA}"/>
      {sphere if scene.above else _FEET}
    </body>
  </worldbody>
  <actuator><motor joint="free" gear="1 0 0 0 0 0"/></actuator>
</mujoco>"""
